/** Asks the user to confirm their identity; false when they decline. */
type Ask = () => Promise<boolean>

let ask: Ask | null = null
let pending: Promise<boolean> | null = null

/** Registers the dialog that asks. @returns a function that removes it */
export function onStepUp(handler: Ask): () => void {
  ask = handler
  return () => {
    if (ask === handler) ask = null
  }
}

/** Asks once for all mutations that wait. False also when no page can ask. */
export function askForIdentity(): Promise<boolean> {
  pending ??= (ask?.() ?? Promise.resolve(false)).finally(() => {
    pending = null
  })
  return pending
}
