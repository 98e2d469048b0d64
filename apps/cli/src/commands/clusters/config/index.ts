import { commandGroup } from '../../../command.ts'
import { configDiff, configList, configShow } from './read.ts'
import { configSet, configSettings } from './set.ts'
import { configCheck, configDrift, configEdit, configImport, configRollback, configRollout } from './write.ts'

export const clusterConfig = () =>
  commandGroup('config', [
    configList(),
    configShow(),
    configDiff(),
    configImport(),
    configEdit(),
    configSettings(),
    configSet(),
    configCheck(),
    configRollout(),
    configRollback(),
    configDrift(),
  ]).description('slurm.conf and its other files, in versions')
