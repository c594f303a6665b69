/** Numbers from 0 up to `below`, the same for the same seed. */
export function random(seed) {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
