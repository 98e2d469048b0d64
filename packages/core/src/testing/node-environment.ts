/** The smallest environment for a Node child process; the compile cache saves stripping types again. */
export const nodeEnvironment: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
}
