import type { ResolvedProfileCache } from '../boot-profiles/index.ts'

/** Profiles that this process served, by their versions: thousands of nodes boot the same one. Also holds what is rendered of them. */
export const servedProfiles: ResolvedProfileCache = new Map()
