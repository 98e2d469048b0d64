import { commandGroup } from '../../command.ts'
import { bootDhcpConfig } from './dhcp-config.ts'
import { bootDurations } from './durations.ts'
import { bootFetches } from './fetches.ts'
import { bootPreview } from './preview.ts'
import { rule } from './rule/index.ts'
import { bootTimeline } from './timeline.ts'
import { unknown } from './unknown/index.ts'

export const boot = () =>
  commandGroup('boot', [bootTimeline(), bootFetches(), bootPreview(), bootDurations(), bootDhcpConfig(), unknown(), rule()])
