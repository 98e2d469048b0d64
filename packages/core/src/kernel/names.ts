/** `approveHostKey` -> `approve_host_key`. */
export const snakeCased = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
