import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends every vitest run with one plain line, such as `41 passed, 0 failed`.
 * A file that does not load, a failing hook of a suite and an error outside all tests count as failed too,
 * so that a red run never says `0 failed`.
 */
export default class ClosingLine implements Reporter {
  #line = '0 passed, 0 failed';

  onInit(): void {
    // On exit, so that nothing of vitest's own follows it.
    process.once('exit', () => console.log(this.#line));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
    }
    const skipped = counts.skipped + counts.pending;
    this.#line = `${counts.passed} passed, ${counts.failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  }
}
