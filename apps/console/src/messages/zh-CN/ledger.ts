import type { Messages } from '../index.ts'

/** Texts of the page about the ledger of node metadata. */
export const ledger = {
  ledger: {
    checkpoint: '最新检查点',
    disable: '停用',
    disabled: '已停用',
    enable: '启用',
    enabled: '已启用',
    entries: '条目',
    entryCount: '{count, number} 条',
    frequency: '频率',
    intervalSeconds: '批次间隔（秒）',
    intervalSecondsHint: '至少 5。每个节点在一个批次中最多出现一次，取最新的值。',
    keys: '公钥',
    lead: '只追加、带签名的日志，记录 Muster 所了解的每个节点：状态、健康、硬件和代理。持有公钥的任何人都可以验证导出的日志。',
    loadFailed: '无法加载账本',
    maxAgeSeconds: '未变化的节点再次记录的间隔（秒）',
    maxAgeSecondsHint: '至少 60。适用于只发送心跳的节点。',
    never: '从未',
    recordedAt: '最近的批次',
    recording: '记录',
    saved: '已保存账本设置',
    state: '状态',
    title: '账本',
    verify: '请在 Muster 之外保存公钥，然后运行 muster ledger verify --key KEY。',
  },
} as const satisfies Partial<Messages>
