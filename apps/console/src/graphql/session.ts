/** Tells the shell that the server no longer knows this session, from wherever a request found out. */
const listeners = new Set<() => void>()

export function signedOut(): void {
  for (const listener of listeners) listener()
}

export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** A path of this console to go to after sign-in; anything that could lead elsewhere becomes the start page. */
export function safePath(path: string | null): string {
  return path?.startsWith('/') && !path.startsWith('//') && !path.includes('\\') ? path : '/nodes'
}
