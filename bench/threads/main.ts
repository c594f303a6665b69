// The thread benchmark by itself: node build/bench/threads/main.js [--quick] [--node <path>]
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchOptions } from '../options.ts';
import { progress } from '../progress.ts';
import { asMarkdown, asText } from '../render.ts';
import { describe, originOf } from '../report.ts';
import { measureThreads } from './section.ts';

// Compiled files lie three folders below the repository's root, in build/bench/threads.
const folder = new URL('../../../bench/report/', import.meta.url);

const { node, effort } = benchOptions(process.argv.slice(2));
const origin = originOf(node);
console.log(describe(origin, effort));
const { rows, section } = measureThreads(node, effort, progress);
progress('');
console.log(`\n${asText(section)}`);
mkdirSync(folder, { recursive: true });
const json = { schema: 1, origin, effort, threads: rows };
writeFileSync(new URL('threads.json', folder), `${JSON.stringify(json, null, 2)}\n`);
const markdown = ['# Threads', describe(origin, effort), asMarkdown(section)].join('\n\n');
writeFileSync(new URL('threads.md', folder), `${markdown}\n`);
console.log(`\nKept in ${fileURLToPath(folder)}`);
