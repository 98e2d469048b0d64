import type { Messages } from '../index.ts'

export const log = {
  log: {
    allHosts: '所有主机',
    download: '下载日志',
    downloadHost: '仅 {host} 的行（文本）',
    following: '跟随中',
    hitOf: '{at, number} / {count, number}',
    hits: '{count, plural, other {# 行}}',
    hitsMany: '{count, plural, other {#+ 行}}',
    host: '主机',
    label: '日志',
    lines: '{count, plural, other {# 行}}',
    newLines: '{count, plural, other {# 行新日志}}',
    next: '下一个匹配项',
    noHits: '无匹配项',
    none: '此运行没有输出',
    paused: '已暂停',
    previous: '上一个匹配项',
    search: '搜索日志',
    toEnd: '跳到末尾',
    waiting: '正在等待输出…',
    wrap: '自动换行',
  },
  logFormat: {
    ansi: '带颜色的文本（ANSI）',
    ndjson: '事件（NDJSON）',
    runner: '事件（ansible-runner）',
    text: '文本',
  },
} as const satisfies Partial<Messages>
