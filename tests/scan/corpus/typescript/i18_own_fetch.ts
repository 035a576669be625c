const fetch = (key: string): string => key;
const first = <string>fetch("https://www.example.org/");
class Cache {
  private exec = (key: string) => key;
  get(key: string) { return this.exec(key); }
}
