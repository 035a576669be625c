function visit(fetch, require) {
  fetch('https://example.org/');
  return require('child_process');
}
const store = new Map();
store.set('fetch', visit);
const { fetch } = store;
console.log(typeof fetch, store.get('fetch').name);
