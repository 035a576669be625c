import { useState } from "react";
export const Counter = ({ start = 0 }: { start?: number }) => {
  const [n, set] = useState<number>(start);
  return <button onClick={() => set(n + 1)}>eval {n}</button>;
};
