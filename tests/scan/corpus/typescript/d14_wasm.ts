const bytes = new Uint8Array(8);
WebAssembly.instantiate(bytes, {}); // FIND: javascript.native-extension
import fast from "./fast.node"; // FIND: javascript.native-extension
console.log(fast);
