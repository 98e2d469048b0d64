const CHANNEL = 'muster.identity'
const POLL_MS = 500

/** Opens a window in which the user signs in at the provider again. @returns whether the user did */
export function confirmAtProvider(): Promise<boolean> {
  const popup = window.open('/sign-in/confirm', '_blank', 'popup,width=520,height=720')
  if (!popup) return Promise.resolve(false)
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL)
    const end = (isConfirmed: boolean) => {
      clearInterval(timer)
      channel.close()
      resolve(isConfirmed)
    }
    channel.onmessage = () => end(true)
    // A provider can cut the connection to its opener; the window then seems closed, and the user cancels the dialog or tries again.
    const timer = setInterval(() => popup.closed && end(false), POLL_MS)
  })
}

/** Reports the confirmation to the page that opened this window, and closes it. */
export function reportConfirmed(): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage('confirmed')
  channel.close()
  window.close()
}
