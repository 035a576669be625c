import { useEffect } from "react";
export function Page(props: { code: string }) {
  useEffect(() => { eval(props.code); }, []); // FIND: javascript.dynamic-code
  return <div onClick={() => fetch("https://track.example.net/c")} />; // FIND: javascript.network
}
