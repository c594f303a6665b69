// The string builtins of the JavaScript engine (WebAssembly JS String Builtins, phase 4).

@external('wasm:js-string', 'length')
export declare function length(text: externref): i32;
@external('wasm:js-string', 'charCodeAt')
export declare function charCodeAt(text: externref, at: i32): u32;
