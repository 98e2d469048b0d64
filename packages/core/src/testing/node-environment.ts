/** Minimal environment for a Node child process. The compile cache avoids repeated type stripping. */
export const nodeEnvironment: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
}
