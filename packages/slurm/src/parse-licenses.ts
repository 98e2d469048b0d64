import { parseCount, readRecords } from './text.ts'

/** A license of a cluster, as slurmctld counts it. */
export interface SlurmLicense {
  /** `matlab`; with the server, `ansys@server`, of one that slurmdbd shares among clusters. */
  name: string
  total: number
  used: number
  free: number
  reserved: number
  /** Whether slurmdbd shares it among clusters. */
  isRemote: boolean
}

/** Reads `scontrol show licenses --oneliner`. */
export const parseLicenses = (output: string): SlurmLicense[] =>
  readRecords(output, 'LicenseName', {
    required: ['Total', 'Used', 'Free', 'Remote'],
    empty: 'No licenses configured in Slurm',
  }).map((license) => ({
    name: license.get('LicenseName')!,
    total: parseCount(license.get('Total')) ?? 0,
    used: parseCount(license.get('Used')) ?? 0,
    free: parseCount(license.get('Free')) ?? 0,
    reserved: parseCount(license.get('Reserved')) ?? 0,
    isRemote: license.get('Remote') === 'yes',
  }))
