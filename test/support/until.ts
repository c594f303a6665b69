/** Waits until a condition holds, and fails if it does not in time. */
export async function until(
  condition: () => unknown | Promise<unknown>,
  { ms = 5_000, what = 'the condition' } = {},
): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what} did not hold within ${ms} ms`);
    await new Promise((done) => setTimeout(done, 5));
  }
}
