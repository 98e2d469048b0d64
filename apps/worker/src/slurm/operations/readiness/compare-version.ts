import type { SlurmNodeCheck } from '@muster/core/slurm-operations'

/** Year and month of a release: 22.05 of `slurm-wlm 22.05.8` and of the package version `1:22.05.8-4`. */
const major = (text: string) => /(\d+\.\d+)/.exec(text.replace(/^\d+:/, ''))?.[1] ?? null

/**
 * Compares an installed slurmd with slurmctld: it may be as new, and up to two releases older.
 * @param label what is installed
 * @param release of the controller; null before the cluster exists
 */
export function compareSlurmVersion(
  label: string,
  version: string,
  release: string | null,
): Pick<SlurmNodeCheck, 'state' | 'message'> {
  const [own, wanted] = [major(version), release && major(release)]
  if (own && wanted && Number(own) > Number(wanted))
    return { state: 'FAILED', message: `${label} is newer than the controller's ${wanted}; remove it, or upgrade the controller` }
  if (own && wanted && own !== wanted) return { state: 'WARNING', message: `${label} is installed; the controller has ${wanted}` }
  return { state: 'OK', message: `${label} is installed` }
}
