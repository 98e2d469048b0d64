import { commandGroup } from '../../command.ts'
import { clusterAdd } from './add.ts'
import { clusterConfig } from './config/index.ts'
import { clusterCreate } from './create.ts'
import { clusterEstimate } from './estimate.ts'
import { clusterGet } from './get.ts'
import { clusterList } from './list.ts'
import { clusterOperation } from './operations/index.ts'
import { clusterPowerSaving } from './power-saving.ts'
import { clusterRefresh } from './refresh.ts'
import { clusterRelease } from './release.ts'
import { clusterRemove } from './remove.ts'
import { clusterScaleIn } from './scale-in.ts'
import { clusterScaleOut } from './scale-out.ts'
import { clusterSnippet } from './snippets/index.ts'
import { clusterTest } from './test.ts'
import { clusterTotals } from './totals.ts'
import { clusterUpdate } from './update.ts'

export const cluster = () =>
  commandGroup('cluster', [
    clusterList(),
    clusterGet(),
    clusterTotals(),
    clusterEstimate(),
    clusterTest(),
    clusterAdd(),
    clusterUpdate(),
    clusterRefresh(),
    clusterRemove(),
    clusterConfig(),
    clusterSnippet(),
    clusterCreate(),
    clusterScaleOut(),
    clusterScaleIn(),
    clusterPowerSaving(),
    clusterRelease(),
    clusterOperation(),
  ])
