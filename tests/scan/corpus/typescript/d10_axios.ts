import axios, { AxiosResponse } from "axios";
const BASE: string = "https://collect.example.com/in";
export async function send(body: object): Promise<AxiosResponse> {
  return axios.post(BASE, body); // FIND: javascript.network
}
