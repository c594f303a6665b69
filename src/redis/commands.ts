import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { scripts } from './scripts.generated.ts';

/** The user's own client: we send through it and never close it. */
export type RedisClient = Redis | Cluster;

export type Algorithm = keyof typeof scripts;
export type Operation = 'acquire' | 'peek' | 'refund' | 'reset' | 'lease' | 'release';
export type Argument = string | number;

/** The keys of a call: one, one with two that leases need, or any number of them. */
type Form = 'one' | 'lease' | 'many';

type Command = (...args: Argument[]) => Promise<unknown>;
type Pipeline = Record<string, Command> & { exec(): Promise<[Error | null, unknown][] | null> };

/** By its text, so that two releases in one process do not take each other's command. */
const commandNames = Object.fromEntries(
  Object.entries(scripts).map(([algorithm, lua]) => {
    const sha = createHash('sha1').update(lua).digest('hex').slice(0, 8);
    const name = (form: Form) => `sluicegate:${algorithm}:${sha}:${form}`;
    return [algorithm, { one: name('one'), lease: name('lease'), many: name('many') }];
  }),
) as Record<Algorithm, Record<Form, string>>;

/**
 * Makes the scripts commands of the client. With a fixed number of keys ioredis finds the slot and sends a script again
 * that a server has lost, also in bursts, in pipelines and in a cluster. Many keys go to single servers only.
 */
export function defineCommands(client: RedisClient): void {
  for (const [algorithm, lua] of Object.entries(scripts)) {
    const names = commandNames[algorithm as Algorithm];
    client.defineCommand(names.one, { numberOfKeys: 1, lua });
    client.defineCommand(names.lease, { numberOfKeys: 3, lua });
    if (!client.isCluster) client.defineCommand(names.many, { lua });
  }
}

/** One call of a script. */
export interface ScriptCall {
  readonly algorithm: Algorithm;
  readonly form: Form;
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
}

export function sendCommand(client: RedisClient, call: ScriptCall): Promise<unknown> {
  return start(client as unknown as Record<string, Command>, call);
}

/**
 * The same in a pipeline of its own. In a shared one, as auto-pipelining makes them, ioredis does not follow a slot that
 * moves, since the other commands of the pipeline may have run.
 */
export async function sendAlone(client: RedisClient, call: ScriptCall): Promise<unknown> {
  const pipeline = client.pipeline() as unknown as Pipeline;
  start(pipeline, call);
  const [error, reply] = (await pipeline.exec())?.[0] ?? [new Error('the pipeline has no reply')];
  if (error !== null) throw error;
  return reply;
}

function start(commands: Record<string, Command>, { algorithm, form, keys, args }: ScriptCall) {
  const command = commands[commandNames[algorithm][form]] as Command;
  return form === 'many'
    ? command.call(commands, keys.length, ...keys, ...args)
    : command.call(commands, ...keys, ...args);
}
