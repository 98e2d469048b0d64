/**
 * Versions of Slurm's REST API, newest first, each with the release that added it; the data_parser plugins of the commands have the same
 * names. A release knows two to four of them.
 */
export const API_VERSIONS: readonly [release: number, version: string][] = [
  [26.05, 'v0.0.45'],
  [25.11, 'v0.0.44'],
  [25.05, 'v0.0.43'],
  [24.11, 'v0.0.42'],
  [24.05, 'v0.0.41'],
  [23.11, 'v0.0.40'],
  [23.02, 'v0.0.39'],
  [22.05, 'v0.0.38'],
]

/** The newest version that a release knows; undefined for a release that is older than all. */
export const apiVersion = (release: number): string | undefined => API_VERSIONS.find(([min]) => release >= min)?.[1]

/** The release `23.11.4` as the number 23.11; 0 for null, which stands for a version that is not known. */
export const releaseNumber = (version: string | null): number => Number(/^\d+\.\d+/.exec(version ?? '')?.[0] ?? 0)
