/** The build puts the version in; from the repository it is none that was released. */
declare const MUSTER_AGENT_VERSION: string | undefined
export const VERSION = typeof MUSTER_AGENT_VERSION === 'string' ? MUSTER_AGENT_VERSION : '0.0.0-source'
