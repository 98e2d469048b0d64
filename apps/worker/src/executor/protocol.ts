/** Starts a program with pipes at the descriptors 1 to `outputs`. `stdin` is written to descriptor 0, which is closed otherwise. */
export type SpawnRequest = {
  type: 'spawn'
  id: number
  file: string
  args: string[]
  cwd?: string | undefined
  /** The complete environment. */
  env: NodeJS.ProcessEnv
  outputs: number
  stdin?: string | Uint8Array | undefined
}

/** From the broker. `read` requests the next chunk of an output; `close` ends reading. */
export type Request =
  | SpawnRequest
  | { type: 'read' | 'close'; id: number; output: number }
  | { type: 'kill'; id: number; signal: NodeJS.Signals }

/** From the executor. */
export type Report =
  | { type: 'spawned'; id: number; pid: number }
  | { type: 'failed'; id: number; code: string; path: string; message: string }
  | { type: 'data'; id: number; output: number; chunk: Uint8Array }
  | { type: 'end'; id: number; output: number }
  | { type: 'exit'; id: number; code: number | null; signal: NodeJS.Signals | null }
