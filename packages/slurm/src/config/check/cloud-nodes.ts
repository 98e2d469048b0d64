import { cloudNodeNames, listedCloudData } from '../cloud.ts'
import { readSetting } from '../model.ts'
import type { ParsedConfig } from '../parse.ts'
import { listed, type Report } from './report.ts'

/** Checks what nodes with State=CLOUD need. */
export function checkCloudNodes(report: Report, config: ParsedConfig, release: number): void {
  const names = cloudNodeNames(config)
  if (names.length === 0) return
  const missing = ['SuspendProgram', 'ResumeProgram'].filter((key) => !readSetting(config, key))
  if (missing.length > 0)
    report.warn(
      null,
      missing[0]!,
      `Slurm starts nodes with State=CLOUD only through power saving, but ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set: ${listed(names)}.`,
    )
  const privateData = listedCloudData(config, release)
  if (privateData !== null)
    report.warn(
      null,
      'PrivateData',
      `This release hides nodes with State=CLOUD that are powered down: ${listed(names)}. Set PrivateData=${privateData}.`,
    )
}
