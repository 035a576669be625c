interface Row { a: number }
async function load<T>(): Promise<T> {
  const r: Response = await fetch("https://api.example.org/rows"); // FIND: javascript.network
  return (await r.json()) as T;
}
load<Row>();
