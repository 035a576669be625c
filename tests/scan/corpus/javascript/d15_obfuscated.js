const _0x4f2a = ["\x6c\x6f\x67", "\x68\x65\x6c\x6c\x6f\x20\x77\x6f\x72\x6c\x64"]; // FIND: javascript.obfuscated javascript.obfuscated
function _0x1b3c(a) { // FIND: javascript.obfuscated
  return _0x4f2a[a];
}
console[_0x1b3c(0)](_0x1b3c(1));
