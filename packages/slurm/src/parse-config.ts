import { parseWord } from './text.ts'

/** The configuration in effect. */
export interface SlurmConfig {
  clusterName: string | null
  version: string | null
  /** Hosts of slurmctld, the primary first. */
  controllers: string[]
  /** All settings as printed; settings that are (null) are left out. */
  settings: Record<string, string>
}

/** Reads `scontrol show config`; all versions print text, also with --json. */
export function parseConfig(output: string): SlurmConfig {
  const settings: Record<string, string> = {}
  for (const [, key, value] of output.matchAll(/^([A-Za-z][\w[\]]*)\s*= ?(.*)$/gm)) {
    const word = parseWord(value)
    if (word !== null) settings[key!] ??= word
  }
  const controllers = Object.entries(settings)
    .filter(([key]) => /^SlurmctldHost\[\d+\]$/.test(key))
    .map(([, host]) => host.replace(/\(.*\)$/, ''))
  return { clusterName: settings.ClusterName ?? null, version: settings.SLURM_VERSION ?? null, controllers, settings }
}

/** Reads `slurm 22.05.8` of `scontrol --version`; null when it is something else. */
export const parseVersion = (output: string): string | null => /^slurm\S* (\d+\.\d+\S*)\s*$/m.exec(output)?.[1] ?? null
