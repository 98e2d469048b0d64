/** Notifies listeners that the session has ended, whichever request detected it. */
const listeners = new Set<() => void>()

export function notifySignedOut(): void {
  for (const listener of listeners) listener()
}

export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** A path of this console to open after sign-in; anything else becomes the start page. */
export function safePath(path: string | null): string {
  return path?.startsWith('/') && !path.startsWith('//') && !path.includes('\\') ? path : '/nodes'
}
