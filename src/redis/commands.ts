import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { scripts } from './scripts.generated.ts';

/** The user's own client: we send through it and never close it. */
export type RedisClient = Redis | Cluster;

export type Algorithm = keyof typeof scripts;
export type Operation = 'acquire' | 'peek' | 'refund' | 'reset';
export type Argument = string | number;

type Command = (...args: Argument[]) => Promise<unknown>;
type Pipeline = Record<string, Command> & { exec(): Promise<[Error | null, unknown][] | null> };

/** By its text, so that two releases in one process do not take each other's command. */
const commandNames = Object.fromEntries(
  Object.entries(scripts).map(([algorithm, lua]) => {
    const sha = createHash('sha1').update(lua).digest('hex');
    return [algorithm, `sluicegate:${algorithm}:${sha.slice(0, 8)}`];
  }),
) as Record<Algorithm, string>;

const manyName = (algorithm: Algorithm) => `${commandNames[algorithm]}:many`;

/**
 * Makes the scripts commands of the client. With a fixed number of keys ioredis finds the slot and sends a script again
 * that a server has lost, also in bursts, in pipelines and in a cluster. Many keys go to single servers only.
 */
export function defineCommands(client: RedisClient): void {
  for (const [name, lua] of Object.entries(scripts)) {
    const algorithm = name as Algorithm;
    client.defineCommand(commandNames[algorithm], { numberOfKeys: 1, lua });
    if (!client.isCluster) client.defineCommand(manyName(algorithm), { lua });
  }
}

/** Calls the script once for all keys, which a cluster takes one of. */
export function sendCommand(
  client: RedisClient,
  algorithm: Algorithm,
  keys: readonly string[],
  args: readonly Argument[],
): Promise<unknown> {
  const commands = client as unknown as Record<string, Command>;
  const [key = ''] = keys;
  return keys.length === 1
    ? (commands[commandNames[algorithm]] as Command).call(client, key, ...args)
    : (commands[manyName(algorithm)] as Command).call(client, keys.length, ...keys, ...args);
}

/**
 * The same in a pipeline of its own. In a shared one, as auto-pipelining makes them, ioredis does not follow a slot that
 * moves, since the other commands of the pipeline may have run.
 */
export async function sendAlone(
  client: RedisClient,
  algorithm: Algorithm,
  key: string,
  args: readonly Argument[],
): Promise<unknown> {
  const pipeline = client.pipeline() as unknown as Pipeline;
  (pipeline[commandNames[algorithm]] as Command).call(pipeline, key, ...args);
  const [error, reply] = (await pipeline.exec())?.[0] ?? [new Error('the pipeline has no reply')];
  if (error !== null) throw error;
  return reply;
}
