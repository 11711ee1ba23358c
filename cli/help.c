// weft help: what each command does, with examples.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

typedef struct help_page
{
    const char *name, *usage, *text;
} help_page;

static const help_page pages[] = {
    {"run",
     "weft run SCENE [-o DIR] [--frames N] [--threads N] [--method NAME] [--solver NAME] [--set PATH=VALUE]... "
     "[--fields] [--resume|--force] [--json]",
     "Simulates a scene (a file, or a name from `weft list scenes`) into a run's folder, SCENE-run by default.\n"
     "Everything finished is on disk at every instant: a run that was stopped or killed goes on with --resume.\n"
     "--threads 0 (the default) takes one a core; the result is the same to the bit for any number.\n"
     "--fields also writes what solver and method know of each vertex (`aggregate` of multigrid, `component` of "
     "decomposed:NAME), and of each connection (implicit, explicit, slack), which `weft view"
     " DIR` offers as colours.\n\n"
     "  weft run hang\n"
     "  weft run pinned --set cells=200 --set tessellation=irregular -o /tmp/pinned\n"
     "  weft run shirt.json --solver cholesky --frames 48\n"
     "  weft run shirt.json --solver sa-ppcg --fields\n"
     "  weft run shirt-run/scene.json --resume\n"},
    {"check", "weft check SCENE [--set PATH=VALUE]... [--json]\n       weft check --schema",
     "Reads and validates everything that a run would, and runs nothing.\n\n  weft check shirt.json\n\n"
     "--schema prints the JSON Schema of scene files, for editors.\n"},
    {"list",
     "weft list methods|solvers|preconditioners|models|materials|scenes|formats|bodies\n"
     "       weft list materials --sources",
     "One a line: name, tab, summary. --sources prints every number of each fabric, its unit and where it is from.\n\n"
     "  weft list scenes\n"},
    {"render",
     "weft render DIR [--frame K|--stills N] [-o FILE.png|FILE.mp4] [--size WxH] [--edges] "
     "[--show strain|levels|aggregates|strength|components|pattern|connections|crossings] [--level L] [--theta T] "
     "[--camera "
     "X,Y,Z] "
     "[--target X,Y,Z] "
     "[--fov DEG] "
     "[--no-ground]",
     "Draws a frame of a run (the last by default), or with -o FILE.mp4 a film through ffmpeg. Needs no display and no "
     "GPU.\n"
     "--stills N makes a contact sheet of N frames from the first to the last, seen by one camera.\n"
     "--level L draws sheets by a coarser level of detail, --show levels all of them, a panel each.\n"
     "--show strain colours by stretch against the rest shape. --show aggregates colours the aggregates of the "
     "multigrid,\n"
     "a panel for each level, or the level of --level (0: the finest). --show strength draws the strong connections "
     "of\n"
     "the matrix for x, y and z in the rest shape, at frame 0 and at the frame: negative blue, positive red. --theta "
     "is "
     "the\n"
     "threshold for strong, from 0 to below 1. --show components colours the parts that the system falls into, --show\n"
     "pattern draws the blocks of the matrix that are not zero, as they are and component by component, --show\n"
     "connections what the method does with each element of stretch and shear: implicit, explicit, slack. --show\n"
     "crossings colours triangles that cross: red, or orange where the run lists them as left of its start or "
     "squeezed.\n\n"
     "  weft render hang-run\n"
     "  weft render hang-run --frame 4 --edges -o frame4.png\n"
     "  weft render hang-run --show strain -o film.mp4\n"
     "  weft render hang-run --stills 6 -o sheet.png\n"
     "  weft render hang-run --frame 10 --show strength -o strength.png\n"
     "  weft render hang-run --show aggregates --level 0 --edges\n"
     "  weft render hang-run --frame 3 --show connections\n"},
    {"dress",
     "weft dress GARMENT... --body BODY [-o DIR] [--pose FILE] [--threads N] [--set PATH=VALUE]... [--force] [--json]",
     "Puts garments (OBJ files, the innermost first) on a body: it shrinks to its middle, so far that the cloth is\n"
     "outside of it, and grows into the garments while they step with contact. What is too small stretches. --pose "
     "gives\n"
     "the body in another pose that the garments fit; from there it moves to its own. --set changes the scene: metres "
     "for\n"
     "a unit of a file, the material.\n"
     "The folder, GARMENT-dressed by default, is a run's with frame 0: scene.json starts there, NAME.start.obj are "
     "the\n"
     "garments as they are worn, with the vertices, names, groups and maps of their files, NAME.obj their rest shape. "
     "Exit\n"
     "status 1: some triangles still cross; the message names them, and the folder shows them.\n\n"
     "  weft dress shirt.obj --body body.obj\n"
     "  weft dress shirt.obj jacket.obj --body body.obj -o dressed --set cloth.1.material=denim\n"
     "  weft dress shirt.obj --body sits.obj --pose stands.obj --set obstacles.0.mesh.scale=0.01\n"
     "  weft render shirt-dressed && weft run shirt-dressed/scene.json -o shirt-run\n"},
    {"inspect", "weft inspect DIR [--frame K|A..B] [--obstacle NAME]... [--pairs N] [--threads N] [--json]",
     "Says for every frame of a cache how many pairs of triangles cross (cloth with cloth, cloth with obstacles), how "
     "near the\n"
     "others come, the largest strain, the energy and the number of values that are not finite. Reads a run's folder, "
     "or OBJ\n"
     "and PC2 files of any program; --obstacle says which of their bodies are none of cloth. Crossings are exact; "
     "docs/inspect.md\n"
     "states the rule. Exit status 1: a frame has a crossing or a value that is not finite, or was too much to look "
     "through.\n\n"
     "  weft inspect hang-run\n"
     "  weft inspect hang-run --frame 2..5 --json\n"
     "  weft inspect blender-cache --obstacle body\n"},
    {"view", "weft view DIR [DIR2 ...] [-o FILE.html]",
     "Writes one self-contained page with the animation in 3D, the curves and the numbers of a run, or of several side "
     "by side.\n"
     "It opens from disk in a browser and needs no network. By default it is DIR/view.html, of several runs "
     "compare.html in\n"
     "the folder of the first. docs/view.md says what is in it.\n\n"
     "  weft view hang-run\n"
     "  weft view cotton-run silk-run -o compare.html\n"},
    {"export",
     "weft export DIR --to FORMAT [-o TARGET] [--frames A:B] [--every N] [--fps R] [--start K] [--scale S] "
     "[--plain] [--up y|z] [--level L] [--body "
     "NAME]... "
     "[--force] "
     "[--json]",
     "Writes the animation of a run for other programs; `weft list formats` names the formats, docs/export.md says "
     "what "
     "each\n"
     "holds. The target, a file or a folder of the run's name where you stand by default, appears whole or not at "
     "all.\n"
     "--frames takes A:B, A:, :B or one frame; --every N each N-th of them. --fps is the rate of the export (by "
     "default\n"
     "motion keeps its speed), --up z turns x, y, z to x, -z, y. --level L writes sheets by a coarser level of "
     "detail.\n"
     "--start numbers the first frame (by default as in the run), --scale multiplies lengths, --plain leaves out\n"
     "normals, velocities and fields. --force replaces a folder that an export made.\n\n"
     "  weft export hang-run --to pc2\n"
     "  weft export hang-run --to pc2 --body sheet --up z -o sheet.pc2\n"
     "  weft export hang-run --to obj --frames 2:10 --every 2 --fps 24 -o /tmp/hang --force\n"},
    {"system", "weft system SCENE [--step K|A:B[:N][,...]] [--from DIR] -o PREFIX [--binary] [--threads N] [--set PATH=VALUE]...",
     "Writes the linear system that step K solves first, unfiltered, as Matrix Market files PREFIX.mtx, PREFIX_b.mtx, "
     "...\n"
     "or with --binary as PREFIX.weftsys. Of steps A to B, or each N-th of them, in one run: PREFIX-A, ..., "
     "PREFIX-B;\nof several such ranges with commas between them. --from DIR begins at the checkpoint of a run of this scene, "
     "by default\nwith the step that comes next there.\n\n"
     "  weft system pinned --step 10 -o /tmp/pinned\n"
     "  weft system sphere --step 100:103 --binary -o /tmp/s && weft solve /tmp/s-100 /tmp/s-101 --solver sa-ppcg\n"},
    {"solve",
     "weft solve PREFIX... [--solver NAME] [--preconditioner NAME] [--variant original|corrected] [--components FILE] "
     "[--tolerance T] [--max-iterations N] [--threads N] "
     "[--repeat N] [--set sa.NAME=VALUE]... [--energy-error] [-o X.mtx] [--json]",
     "Solves systems from files, in order, with one solver object, and reports iterations, residuals, rate, times, "
     "memory.\n"
     "--energy-error adds the error in the energy norm against a tight solve, relative to the start.\n"
     "decomposed:NAME solves each component of the system by itself with the solver NAME; --components writes the\n"
     "component of each vertex, a line each. `weft list preconditioners` names those of mpcg.\n"
     "--set changes multigrid: theta, distance, vectors, relax, filter, lanczos, margin, degree, lower, coarsest, "
     "precision, reuse, smoother.\n\n"
     "  weft solve /tmp/pinned --solver sa-ppcg --threads 2 --set sa.degree=3\n"
     "  weft solve /tmp/pinned --solver cholesky --json\n"
     "  weft solve /tmp/a /tmp/b --solver mpcg --preconditioner diagonal -o x.mtx\n"
     "  weft solve /tmp/a --solver decomposed:mpcg --preconditioner ic\n"},
    {"ccd", "weft ccd FILE.bin --kind vf|ee [--json]",
     "Answers continuous collision queries: four points that move on straight lines, a vertex and a face (vf) or two\n"
     "edges (ee). A record is 28 little-endian doubles: 12 coordinates at t = 0, 12 at t = 1, the truth (1 or 0), "
     "bounds\n"
     "of the first time of contact, smallest distance. One line each: `1 TIME` or `0`. TIME is at most 1e-6 before "
     "the\n"
     "first contact and never after it. --json prints totals against the truth instead, and exits with 1 when a\n"
     "collision is missed or a time is late. Records are counted from 0.\n\n"
     "  weft ccd queries.bin --kind vf\n"
     "  weft ccd queries.bin --kind ee --json\n"},
    {"validate",
     "weft validate [--method M|all] [--model M] [--bending B] [--material NAME] [--mesh regular|irregular|FILE.obj] "
     "[--experiments LIST] [--cells N] [--set PATH=VALUE]... [--threads N] [--out DIR [--resume]] [--json]\n"
     "       weft validate --list",
     "Runs experiments with known answers through ordinary scenes and prints ours, the closed form and the deviation: "
     "by\n"
     "default each at three resolutions on regular and irregular meshes, with --method all every method at the "
     "coarsest.\n"
     "Exit status 1: a bound is broken at the finest resolution, or an experiment could not be measured. --out writes "
     "the\n"
     "curves (SVG), a page, and each measurement as it ends, so that --resume goes on there. --set changes the scenes "
     "and not the closed forms: settings of a method, or a mistake "
     "to be\n"
     "found. FILE.obj is a flat rectangle, cut into any triangles. docs/validate.md says what is measured and how.\n\n"
     "  weft validate --experiments cantilever,d1388 --out validation\n"
     "  weft validate --bending exact --mesh irregular\n"
     "  weft validate --method all --experiments elongation,pendulum\n"
     "  weft validate --material denim --method pbd --set pbd.substeps=50\n"},
    {"fit", "weft fit FILE.csv [-o material.json] [--base MATERIAL] [--json]",
     "From measurements of a fabric to a material block of scenes. The file is a table whose first line names its "
     "columns:\n"
     "quantity, value and unit, and where they are needed direction (warp, weft, bias; empty: both), at and at_unit "
     "(the\n"
     "load of an extension). Quantities: weight, bending, bending length, overhang (at 41.5 degrees), shear, "
     "extension; "
     "or\n"
     "the symbols of KES (W, B, G, EMT, LT, WT) and FAST (W, C, B, G, E5, E20, E100, EB5), as B-1 for warp, B-2 for "
     "weft.\n"
     "Several lines of one quantity are their mean. What was not measured is that of --base (cotton), and is said.\n"
     "docs/fit.md has the units and formulas.\n\n"
     "  weft fit shirting.csv\n"
     "  weft fit kes.csv -o worsted.json --base wool\n"},
    {"bench", "weft bench NAME [options] [--json]",
     "Runs a benchmark; `weft bench --list` names them.\n\n  weft bench kernels\n  weft bench sa-table1 "
     "--cells 30,60,100 --steps 8 --out table1\n  weft bench sa-speed --cells 200 "
     "--plane-cells 0\n"},
    {"help", "weft help [COMMAND]", "This text, or a command's.\n"},
};

int command_help(int argc, char** argv)
{
    int count = (int)(sizeof(pages) / sizeof(pages[0]));
    for (int k = 0; k < count && argc > 1; k++)
    {
        if (strcmp(argv[1], pages[k].name) == 0)
        {
            printf("%s\n\n%s", pages[k].usage, pages[k].text);
            return EXIT_DONE;
        }
    }
    if (argc > 1)
    {
        fprintf(stderr, "weft help: there is no command `%s`; `weft help` lists them\n", argv[1]);
        return EXIT_INPUT;
    }
    printf("Weft %s simulates cloth.\n\n", weft_version());
    for (int k = 0; k < count; k++)
    {
        printf("  %s\n", pages[k].usage);
    }
    printf("\n  weft --untrusted [--memory GIB] [--seconds N] COMMAND ...    for files from strangers: reads beside "
           "the files "
           "that are named,\n                          writes beneath -o alone, no network, no other program, limits "
           "of memory "
           "(4 GiB) and time (600 s)\n");
    printf("\nFirst steps:\n  weft run hang && weft render hang-run\n  weft list scenes\n  weft help run\n\n"
           "Exit status: 0 done, 1 the simulation, solve or inspection failed, 2 the input or command line is "
           "wrong, 3 the machine failed.\n");
    return EXIT_DONE;
}
