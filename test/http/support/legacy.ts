type Legacy = (target: object, name: string, descriptor: PropertyDescriptor) => unknown;

/** Applies legacy decorators to a method as the code does that tsc emits: from the last to the first. */
export function decorate(decorators: readonly unknown[], prototype: object, name: string): void {
  let descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
  for (const decorator of [...decorators].reverse()) {
    const result = (decorator as Legacy)(prototype, name, descriptor);
    descriptor = (result ?? descriptor) as PropertyDescriptor;
  }
  Object.defineProperty(prototype, name, descriptor);
}
