import { releaseNumber } from '../../api-versions.ts'
import { CGROUP_CONF_KEYS } from '../keys.ts'
import { readSetting } from '../model.ts'
import { parseConfig } from '../parse.ts'
import { CONFIG_FILES, type ConfigFileName, type ConfigFiles, type ConfigProblem } from '../types.ts'
import { checkGresConf } from './gres-conf.ts'
import { checkLines } from './lines.ts'
import { Report } from './report.ts'
import { checkSlurmConf } from './slurm-conf.ts'
import { checkTopologyConf } from './topology-conf.ts'

/**
 * Checks a configuration without Slurm. It finds what Slurm's own client-side check finds, and what only slurmctld and slurmd find when
 * they start: nodes that are defined twice or nowhere, missing devices, incomplete topologies.
 * @param release of the programs that will read the files, such as 22.05.8
 */
export function checkConfig(files: ConfigFiles, release: string): ConfigProblem[] {
  const version = releaseNumber(release)
  const reports = Object.fromEntries(CONFIG_FILES.map((file) => [file, new Report(file)])) as Record<ConfigFileName, Report>
  const slurm = parseConfig(files['slurm.conf'])
  const nodes = checkSlurmConf(reports['slurm.conf'], slurm, version)
  const gres = files['gres.conf'] === undefined ? null : parseConfig(files['gres.conf'])
  // Without the file, the missing devices are a problem of slurm.conf.
  checkGresConf(gres ? reports['gres.conf'] : reports['slurm.conf'], gres, slurm, nodes, version)
  if (files['cgroup.conf'] !== undefined)
    checkLines(reports['cgroup.conf'], parseConfig(files['cgroup.conf']), { keys: CGROUP_CONF_KEYS, lines: {} }, version)
  const plugin = readSetting(slurm, 'TopologyPlugin') ?? ''
  if (files['topology.conf'] !== undefined)
    checkTopologyConf(reports['topology.conf'], parseConfig(files['topology.conf']), plugin, nodes, version)
  return CONFIG_FILES.flatMap((file) => reports[file].problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)))
}
