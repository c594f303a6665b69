import { Cluster, type ClusterOptions } from 'ioredis';
import { RedisServer } from './redis.ts';
import { until } from './until.ts';

const SLOTS = 16_384;
const HOST = '127.0.0.1';
const SETTINGS = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '5000'];

/** Masters that share all slots. */
export class RedisCluster {
  readonly nodes: RedisServer[] = [];
  readonly #ids = new Map<RedisServer, string>();

  static async start(masters: number): Promise<RedisCluster> {
    const cluster = new RedisCluster();
    for (let i = 0; i < masters; i++) await cluster.#join();
    const share = Math.ceil(SLOTS / masters);
    for (const [i, node] of cluster.nodes.entries()) {
      const slots = Array.from(
        { length: Math.min(share, SLOTS - i * share) },
        (_, k) => i * share + k,
      );
      await node.admin().cluster('ADDSLOTS', ...slots);
    }
    await cluster.#agreed();
    return cluster;
  }

  client(options: ClusterOptions = {}): Cluster {
    const first = this.nodes[0] as RedisServer;
    const client = new Cluster([{ host: HOST, port: first.port }], options as object);
    return first.owns(client.on('error', () => {}));
  }

  /** One more master, without slots. */
  async grow(): Promise<RedisServer> {
    const node = await this.#join();
    await this.#agreed();
    return node;
  }

  /** Moves a slot with its keys, as a resharding does. */
  async move(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
    const [fromId, toId] = [this.#ids.get(from) as string, this.#ids.get(to) as string];
    await to.admin().cluster('SETSLOT', slot, 'IMPORTING', fromId);
    await from.admin().cluster('SETSLOT', slot, 'MIGRATING', toId);
    for (;;) {
      const keys = await from.admin().cluster('GETKEYSINSLOT', slot, 100);
      if (keys.length === 0) break;
      await from.admin().call('MIGRATE', HOST, to.port, '', 0, 5_000, 'KEYS', ...keys);
    }
    for (const node of [to, from]) await node.admin().cluster('SETSLOT', slot, 'NODE', toId);
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.stop();
  }

  async #join(): Promise<RedisServer> {
    const node = await RedisServer.start(...SETTINGS);
    const [known] = this.nodes;
    this.nodes.push(node);
    this.#ids.set(node, `${await node.admin().cluster('MYID')}`);
    await node.admin().cluster('SET-CONFIG-EPOCH', this.nodes.length);
    if (known) await node.admin().cluster('MEET', HOST, known.port);
    return node;
  }

  #agreed(): Promise<void> {
    const knows = async (node: RedisServer) => {
      const info = `${await node.admin().cluster('INFO')}`;
      const nodes = Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]);
      return info.includes('cluster_state:ok') && nodes === this.nodes.length;
    };
    return until(async () => (await Promise.all(this.nodes.map(knows))).every(Boolean), {
      ms: 20_000,
      what: 'the cluster',
    });
  }
}
