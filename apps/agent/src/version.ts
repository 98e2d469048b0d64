/** Set by the build; a checkout has no released version. */
declare const MUSTER_AGENT_VERSION: string | undefined
export const VERSION = typeof MUSTER_AGENT_VERSION === 'string' ? MUSTER_AGENT_VERSION : '0.0.0-source'
