import Bowser from 'bowser'

/** Browser and operating system in a User-Agent header, for people; null without one. */
export function describeDevice(userAgent: string | null): string | null {
  if (!userAgent) return null
  const { browser, os } = Bowser.parse(userAgent)
  if (!browser.name) return userAgent.split(/[ (]/, 1)[0]!.slice(0, 60)
  return os.name ? `${browser.name} on ${os.name}` : browser.name
}
