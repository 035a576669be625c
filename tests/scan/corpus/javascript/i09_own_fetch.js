class Store {
  fetch(key) { return this[key]; }
  get(key) { return this.fetch(key); }
  request(key) { return this.get(key); }
}
new Store().request("https://www.example.org/");
