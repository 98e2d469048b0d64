/** Where the user goes after the return from the provider. The browser keeps it: the provider sends only its own parameters back. */
const KEY = 'muster.afterSignIn'

/** Leaves for the provider. */
export function leaveForProvider(url: string, next: string): void {
  sessionStorage.setItem(KEY, next)
  location.assign(url)
}

/** The path given to `leaveForProvider`, once; null when the sign-in was not started in this tab. */
export function takeReturnPath(): string | null {
  const next = sessionStorage.getItem(KEY)
  sessionStorage.removeItem(KEY)
  return next
}
