// Makes the page without runs: index.html with the style sheet and the bundled scripts inside. Called by CMake:
//   node build.mjs MODULES OUT
// where MODULES is the folder in which `npm ci` was run.
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const [modules, out] = process.argv.slice(2).map(path => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, 'package.json'))('esbuild');

const common = {minify: true, write: false, target: ['es2020'], legalComments: 'inline', charset: 'ascii'};
const script = await esbuild.build({
  ...common,
  entryPoints: [join(here, 'src/main.js')],
  nodePaths: [join(modules, 'node_modules')],
  bundle: true,
  format: 'iife',
});
const style = await esbuild.build({...common, entryPoints: [join(here, 'src/style.css')]});

// Replacements are functions, as `$` in code must stay what it is.
const page = readFileSync(join(here, 'index.html'), 'utf8')
  .replace('/*style*/', () => style.outputFiles[0].text.trim())
  .replace('/*script*/', () => script.outputFiles[0].text.trim());
writeFileSync(out, page);
