/** A limiter's name within a Redis key: without braces, which would move the hash tag, and without colons and spaces. */
export function nameText(name: string): string {
  return encodeURIComponent(name);
}

/** The cluster slot of a hash tag: CRC-16/XMODEM modulo 16384, https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec */
export function slotOf(tag: string): number {
  let crc = 0;
  for (let i = 0; i < tag.length; i++) {
    crc = ((crc << 8) ^ (CRC[((crc >> 8) ^ tag.charCodeAt(i)) & 0xff] as number)) & 0xffff;
  }
  return crc & 0x3fff;
}

const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});
