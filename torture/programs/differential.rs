//! Asks both tiers the same of random trees: what they open, what they write, and what they refuse.
//!
//! ```sh
//! differential SEED COUNT
//! ```
//!
//! Each file's content is its own, so that the same content is the same file. A careless way of
//! following links is asked too, and has to answer otherwise here and there. Prints
//! `{ operations, violations, examples, control }` as JSON.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    differential::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("other systems have one tier");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
mod differential {
    use std::error::Error;
    use std::fs;
    use std::io;
    use std::os::unix::fs::symlink;
    use std::path::{Component, Path, PathBuf};

    use ringfence::path::NewFilePath;
    use ringfence::sandbox::{Before, NewContent, Sandbox, Written};
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    /// How many paths are asked of one tree, and every how many one is written to.
    const PATHS_PER_TREE: usize = 40;
    const WRITE_EVERY: usize = 5;

    /// What stands outside every tree.
    const SECRET: &str = "secret";

    #[derive(Default)]
    struct Tally {
        operations: usize,
        violations: usize,
        examples: Vec<String>,
    }

    impl Tally {
        fn compare<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, one: &T, other: &T) {
            self.operations += 1;
            if one != other {
                self.violations += 1;
                if self.examples.len() < 5 {
                    self.examples.push(format!("{what}: {one:?} and {other:?}"));
                }
            }
        }

        fn to_json(&self) -> serde_json::Value {
            let Self { operations, violations, examples } = self;
            serde_json::json!({
                "operations": operations, "violations": violations, "examples": examples,
            })
        }
    }

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let usage = "usage: differential SEED COUNT";
        let arguments: Vec<u64> = std::env::args().skip(1).flat_map(|text| text.parse()).collect();
        let [seed, count] = arguments[..] else { return Err(usage.into()) };
        let (mut tiers, mut careless) = (Tally::default(), Tally::default());
        let mut random = Random(seed);
        while tiers.operations < usize::try_from(count)? {
            ask_of_one_tree(&mut random, &mut tiers, &mut careless)?;
        }
        let mut answer = tiers.to_json();
        answer["control"] = careless.to_json();
        println!("{answer}");
        Ok(())
    }

    /// Builds one tree twice, once for each tier, and asks both the same.
    fn ask_of_one_tree(
        random: &mut Random,
        tiers: &mut Tally,
        careless: &mut Tally,
    ) -> Result<(), Box<dyn Error>> {
        let scratch = tempfile::Builder::new().prefix("ringfence-torture-").tempdir()?;
        let base = fs::canonicalize(scratch.path())?;
        let recipe = Recipe::random(random);
        let worlds = [
            World::build(&base.join("kernel"), &recipe)?,
            World::build(&base.join("walk"), &recipe)?,
        ];
        let [by_kernel, by_walk] = &worlds;
        let sandboxes = [Sandbox::open(&by_kernel.root)?, Sandbox::open_walking(&by_walk.root)?];
        for turn in 0..PATHS_PER_TREE {
            let path = random_path(random, &recipe);
            let asked = |world: &World| path.replace("ROOT", &world.root.to_string_lossy());
            if turn % WRITE_EVERY == 0 {
                let overwrite = random.below(2) == 0;
                let content = format!("written {turn}");
                let write = |world, sandbox| write(world, sandbox, &path, &content, overwrite);
                let answers = [write(by_kernel, &sandboxes[0]), write(by_walk, &sandboxes[1])];
                tiers.compare(&format!("writing {path:?} to {recipe:?}"), &answers[0], &answers[1]);
                let trees = [by_kernel.everything()?, by_walk.everything()?];
                tiers.compare(&format!("after {path:?} in {recipe:?}"), &trees[0], &trees[1]);
            } else {
                let answer = read(&sandboxes[0], &asked(by_kernel));
                let other = read(&sandboxes[1], &asked(by_walk));
                tiers.compare(&format!("reading {path:?} of {recipe:?}"), &answer, &other);
                let was_let_out = answer.as_deref() == Ok(SECRET);
                tiers.compare(&format!("leaving by {path:?} of {recipe:?}"), &was_let_out, &false);
                let carelessly = read_carelessly(&by_kernel.root, &asked(by_kernel));
                careless.compare("", &carelessly, &answer.ok());
            }
        }
        for world in &worlds {
            let outside = fs::read_to_string(world.outside().join("a"))?;
            tiers.compare("outside", &outside.as_str(), &SECRET);
        }
        Ok(())
    }

    /// The content of what opens, or the kind of the refusal.
    fn read(sandbox: &Sandbox, path: &str) -> Result<String, String> {
        let path = sandbox.locate(path).map_err(|refusal| format!("{refusal:?}"))?;
        let file = sandbox.open_file(&path).map_err(|error| format!("{error:?}"))?;
        let bytes = file.read_to_end(1 << 20).map_err(|error| format!("{error:?}"))?;
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    /// The result of a write, in words that name no root and no time.
    fn write(
        world: &World,
        sandbox: &Sandbox,
        path: &str,
        content: &str,
        overwrite: bool,
    ) -> Result<String, String> {
        let path = NewFilePath::parse(path).map_err(|refusal| format!("{refusal:?}"))?;
        let content = NewContent {
            bytes: content.as_bytes(),
            overwrite,
            expected: None,
            durable: false,
            executable: None,
        };
        let written = sandbox.write_file(&path, &content, &|| false);
        let root = world.root.to_string_lossy();
        let shown = |text: String| text.replace(&*root, "ROOT");
        written
            .map(|written| shown(format!("{:?}", without_times(written))))
            .map_err(|error| shown(format!("{error:?}")))
    }

    /// The two trees are not written to in the same moment.
    fn without_times(mut written: Written) -> Written {
        written.after.modified = None;
        if let Before::File { facts, .. } = &mut written.before {
            facts.modified = None;
        }
        written
    }

    /// As it should not be done: `..` in a link taken back by spelling, and a root that is any prefix.
    fn read_carelessly(root: &Path, path: &str) -> Option<String> {
        let mut place = plain(&root.join(path.trim_start_matches("ROOT/")));
        for _ in 0..40 {
            if !place.to_str()?.starts_with(root.to_str()?) {
                return None;
            }
            match first_link(&place) {
                Some((link, rest)) => {
                    let target = fs::read_link(&link).ok()?;
                    place = plain(&link.parent()?.join(target).join(rest));
                }
                None => break,
            }
        }
        let is_file = fs::symlink_metadata(&place).is_ok_and(|entry| entry.is_file());
        if is_file { fs::read_to_string(place).ok() } else { None }
    }

    fn first_link(place: &Path) -> Option<(PathBuf, PathBuf)> {
        let mut ancestors: Vec<_> = place.ancestors().collect();
        ancestors.reverse();
        let link = ancestors.into_iter().find(|path| path.is_symlink())?;
        Some((link.to_owned(), place.strip_prefix(link).ok()?.to_owned()))
    }

    fn plain(path: &Path) -> PathBuf {
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::ParentDir => drop(plain.pop()),
                Component::CurDir => {}
                component => plain.push(component),
            }
        }
        plain
    }

    /// What stands in a tree, in the order in which it is made.
    #[derive(Debug)]
    struct Recipe {
        things: Vec<(String, Thing)>,
    }

    #[derive(Debug)]
    enum Thing {
        Folder,
        File(String),
        Fifo,
        /// `ROOT` and `OUTSIDE` stand for those of the world.
        Link(String),
    }

    const NAMES: [&str; 8] = ["a", "a", "a", "b", "b", "c", "..d", "ü "];

    impl Recipe {
        fn random(random: &mut Random) -> Self {
            let mut folders = vec![String::new()];
            let mut things: Vec<(String, Thing)> = Vec::new();
            for number in 0..8 + random.below(32) {
                let folder = folders[random.index(folders.len())].clone();
                let path = format!("{folder}{}", random.text(&NAMES));
                if things.iter().any(|(other, _)| *other == path) {
                    continue;
                }
                let thing = match random.below(10) {
                    0..3 => {
                        folders.push(format!("{path}/"));
                        Thing::Folder
                    }
                    3..6 => Thing::File(format!("file {number}")),
                    6 if random.below(4) == 0 => Thing::Fifo,
                    _ => Thing::Link(random_target(random)),
                };
                things.push((path, thing));
            }
            Self { things }
        }
    }

    fn random_target(random: &mut Random) -> String {
        let mut target = match random.below(8) {
            0 => "ROOT/".to_owned(),
            1 => random
                .text(&[
                    "OUTSIDE/",
                    "/proc/self/root/",
                    "ROOT-evil/",
                    "ROOT/../walk/ws/",
                    "//ROOT/./",
                ])
                .to_owned(),
            2 => "../".to_owned(),
            3 => "./".to_owned(),
            _ => String::new(),
        };
        for _ in 0..=random.below(3) {
            target += if random.below(5) == 0 { ".." } else { random.text(&NAMES) };
            target += random.text(&["/", "/", "/", "//", "/./"]);
        }
        if random.below(5) > 0 {
            target.truncate(target.trim_end_matches(['/', '.']).len().max(1));
        }
        target
    }

    /// A path by way of what stands in the tree, and of what does not.
    fn random_path(random: &mut Random, recipe: &Recipe) -> String {
        let mut path = if random.below(10) == 0 { "ROOT/".to_owned() } else { String::new() };
        if random.below(3) > 0 && !recipe.things.is_empty() {
            path += &recipe.things[random.index(recipe.things.len())].0;
            path += random.text(&["", "", "", "/", "/.", "/../"]);
            if random.below(3) > 0 {
                return path;
            }
        }
        for _ in 0..=random.below(3) {
            path += match random.below(16) {
                0 => "/..",
                1 => "/.",
                2 => "/",
                _ => random.text(&["/", "/", "/", "\\", "//"]),
            };
            path += random.text(&NAMES);
        }
        path.trim_start_matches('/').to_owned()
    }

    /// A root with a tree, and what lies beside it.
    struct World {
        root: PathBuf,
    }

    impl World {
        fn build(base: &Path, recipe: &Recipe) -> io::Result<Self> {
            let world = Self { root: base.join("ws") };
            for folder in [world.root.clone(), world.outside(), base.join("ws-evil")] {
                fs::create_dir_all(&folder)?;
                if folder != world.root {
                    fs::write(folder.join("a"), SECRET)?;
                }
            }
            for (path, thing) in &recipe.things {
                world.make(path, thing)?;
            }
            Ok(world)
        }

        fn outside(&self) -> PathBuf {
            self.root.with_file_name("outside")
        }

        fn make(&self, path: &str, thing: &Thing) -> io::Result<()> {
            let at = self.root.join(path);
            match thing {
                Thing::Folder => fs::create_dir(at),
                Thing::File(content) => fs::write(at, content),
                Thing::Fifo => Ok(mknodat(CWD, at, FileType::Fifo, Mode::RWXU, 0)?),
                Thing::Link(target) => {
                    let outside = self.outside();
                    let target = target.replace("OUTSIDE", &outside.to_string_lossy());
                    symlink(target.replace("ROOT", &self.root.to_string_lossy()), at)
                }
            }
        }

        /// Everything below the root: the path, and what stands there.
        fn everything(&self) -> io::Result<Vec<(PathBuf, String)>> {
            let mut found = Vec::new();
            let mut folders = vec![self.root.clone()];
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(folder)? {
                    let entry = entry?;
                    let kind = entry.file_type()?;
                    let what = if kind.is_file() {
                        fs::read_to_string(entry.path())?
                    } else {
                        format!(
                            "{} {} {}",
                            kind.is_dir(),
                            kind.is_symlink(),
                            entry.path().is_symlink()
                        )
                    };
                    let path = entry.path();
                    found.push((path.strip_prefix(&self.root).unwrap_or(&path).to_owned(), what));
                    if kind.is_dir() {
                        folders.push(path);
                    }
                }
            }
            found.sort();
            Ok(found)
        }
    }

    /// A small repeatable generator (`SplitMix64`): a case is found again by its seed.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^ (bits >> 31)
        }

        fn below(&mut self, limit: u64) -> u64 {
            self.next() % limit
        }

        /// The index of one of so many.
        fn index(&mut self, count: usize) -> usize {
            usize::try_from(self.below(count as u64)).unwrap_or(0)
        }

        fn text(&mut self, choices: &[&'static str]) -> &'static str {
            choices[self.index(choices.len())]
        }
    }
}
