import { protocol } from './protocol.ts';
import { Explorer } from './protocol-explorer.ts';
import type { ProtocolSettings } from './protocol-table.ts';
import type { Program } from './protocol-threads.ts';

/** Explores each program, prints how many states there were, and throws the first counterexample, with its steps. */
export function exploreAll(
  title: string,
  settings: ProtocolSettings,
  programs: Iterable<Program>,
): { programs: number; states: number } {
  const explorer = new Explorer(protocol(settings));
  const total = { programs: 0, states: 0 };
  for (const program of programs) {
    const { states, fault } = explorer.explore(program);
    if (fault !== '') {
      const { steps } = explorer.explore(program, false);
      throw new Error([fault, told(settings, program), ...steps].join('\n'));
    }
    total.programs++;
    total.states += states;
  }
  console.log(`${title}: ${total.programs} programs, ${total.states} states`);
  return total;
}

function told({ policy, ways, fill, keys }: ProtocolSettings, program: Program): string {
  return `${policy.name}; ${JSON.stringify({ ways, fill, keys })}; ${JSON.stringify(program)}`;
}
