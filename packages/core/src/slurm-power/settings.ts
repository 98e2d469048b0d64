import type { ConfigChange } from '@muster/slurm/config'
import { z } from 'zod'
import { singleLineText } from '../kernel/input.ts'
import type { PowerSavingSettings } from './tables.ts'

/** Slurm stores these timeouts and rates in 16 bits; the two highest values have a meaning of their own. */
const UINT16 = 65_533
const YEAR_SECONDS = 365 * 86_400
const Timeout = z.int().min(1).max(UINT16)
/** 0 means no limit in Slurm: all nodes at once would overload the power supply. */
const Rate = z.int().min(1).max(UINT16)

const ApiUrl = z.url({ protocol: /^https$/, error: 'must be an https:// address that the controllers reach' }).max(500)
const Certificates = z
  .string()
  .max(100_000)
  .refine((text) => /^-----BEGIN CERTIFICATE-----\r?\n/.test(text.trim()), 'must be PEM certificates')

export const PowerSavingInput = z.object({
  suspendTimeSeconds: z.int().min(1).max(YEAR_SECONDS).default(600),
  suspendTimeoutSeconds: Timeout.default(300),
  resumeTimeoutSeconds: Timeout.default(600),
  suspendRate: Rate.default(60),
  resumeRate: Rate.default(60),
  excludedNodes: singleLineText(10_000)
    .nullish()
    .transform((text) => text ?? null),
  excludedPartitions: z.array(singleLineText(255)).max(100, 'at most 100').default([]),
  apiUrl: ApiUrl,
  caCertificate: Certificates.nullish().transform((text) => text ?? null),
}) satisfies z.ZodType<PowerSavingSettings>

/** Folder of the programs on the controllers; the role slurm_power installs them. */
export const PROGRAM_FOLDER = '/usr/local/lib/muster-slurm'

/**
 * Null settings remove power saving.
 * @param privateData that lists nodes of a cloud; null: as it is
 */
export function powerSavingChanges(
  settings: PowerSavingSettings | null,
  excludedNodes: string,
  privateData: string | null,
): ConfigChange[] {
  const values: Record<string, string | null> = {
    SuspendProgram: settings && `${PROGRAM_FOLDER}/suspend`,
    ResumeProgram: settings && `${PROGRAM_FOLDER}/resume`,
    SuspendTime: settings && String(settings.suspendTimeSeconds),
    SuspendTimeout: settings && String(settings.suspendTimeoutSeconds),
    ResumeTimeout: settings && String(settings.resumeTimeoutSeconds),
    SuspendRate: settings && String(settings.suspendRate),
    ResumeRate: settings && String(settings.resumeRate),
    SuspendExcNodes: settings && (excludedNodes || null),
    SuspendExcParts: settings && (settings.excludedPartitions.join(',') || null),
    // Stays when power saving is turned off: it only makes nodes visible.
    ...(settings && privateData !== null ? { PrivateData: privateData } : {}),
  }
  return Object.entries(values).map(([key, value]) => ({ key, value }))
}
