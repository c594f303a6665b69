/** A module from its base64 text, which is how the build puts it into JavaScript. */
export function compile(base64: string, options?: WebAssembly.CompileOptions): WebAssembly.Module {
  return new WebAssembly.Module(
    Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)),
    options,
  );
}
