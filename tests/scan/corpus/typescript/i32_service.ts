import { Injectable } from './core';
@Injectable({ name: 'net' })
export class NetService {
  constructor(private readonly http: { get(u: string): string }) {}
  connect(path: string) { return this.http.get(path); }
  async load<T>(key: string): Promise<T> { return JSON.parse(this.connect(key)) as T; }
}
