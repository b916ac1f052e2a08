//! Properties of a plan, from files and options.
//!
//! ```text
//! DIR/bin/jmeter.properties (-d) or FILE (-p) ─► user.properties ─► -q … ─► -J … ─► -G …   JMeter's
//! DIR/bin/system.properties (-d)              ─► -S …            ─► -D …                  system's
//! ```

use std::path::{Path, PathBuf};

use clap::Args;
use sokudo_i18n::TextError;
use sokudo_jmeter::properties::{Origin, Properties};
use sokudo_model::Text;

use super::{Failure, MOST_BYTES, read_bounded, unreadable};

/// Property file of the user, read when it is in the current directory or beside the tool's own.
const USER_PROPERTIES: &str = "user.properties";

/// Properties in the layers that JMeter has. An option without a value takes the property away.
#[derive(Debug, Args)]
pub struct PropertyArgs {
    /// Set a property, as JMeter's option of this name does.
    #[arg(short = 'J', alias = "jmeterproperty", value_name = "NAME=VALUE", value_parser = pair)]
    property: Vec<(String, String)>,

    /// Set a property on the generators, or a whole file of them; wins over -J.
    #[arg(short = 'G', alias = "globalproperty", value_name = "NAME=VALUE|FILE", value_parser = pair)]
    global: Vec<(String, String)>,

    /// Set a system property. Plans do not see these; those of proxies are heeded.
    #[arg(short = 'D', alias = "systemproperty", value_name = "NAME=VALUE", value_parser = pair)]
    system: Vec<(String, String)>,

    /// File of system properties; -D wins over it.
    #[arg(short = 'S', alias = "systemPropertyFile", value_name = "FILE")]
    system_file: Vec<PathBuf>,

    /// Property file; later ones win over earlier ones.
    #[arg(short = 'q', alias = "addprop", value_name = "FILE")]
    property_file: Vec<PathBuf>,

    /// Property file that is read first, in place of jmeter.properties.
    #[arg(short = 'p', alias = "propfile", value_name = "FILE")]
    main_properties: Option<PathBuf>,

    /// Directory of a JMeter: its bin/jmeter.properties, bin/user.properties and
    /// bin/system.properties are read before all others.
    #[arg(short = 'd', alias = "homedir", value_name = "DIR")]
    home: Option<PathBuf>,
}

/// Name and value of an option such as `-J NAME=VALUE`. Errors: there is no name.
pub(in crate::cli) fn pair(text: &str) -> Result<(String, String), TextError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match name.trim() {
        "" => Err(TextError(Text::new("error-value-property"))),
        name => Ok((name.into(), value.into())),
    }
}

impl PropertyArgs {
    /// Names of the properties that were typed with -J.
    pub fn typed(&self) -> Vec<&str> {
        self.property
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// All layers in JMeter's order. Errors: a file cannot be read.
    pub fn layers(&self) -> Result<Properties, Failure> {
        let mut properties = Properties::default();
        match &self.main_properties {
            Some(file) => add(&mut properties, file)?,
            None => self.add_home(&mut properties, "jmeter.properties")?,
        }
        self.add_home(&mut properties, USER_PROPERTIES)?;
        let user = Path::new(USER_PROPERTIES);
        if user.exists() {
            add(&mut properties, user)?;
        }
        for file in &self.property_file {
            add(&mut properties, file)?;
        }
        for (name, value) in &self.property {
            set(&mut properties, name, value, Origin::CommandLine);
        }
        for (name, value) in &self.global {
            match value.is_empty() && Path::new(name).is_file() {
                true => add(&mut properties, Path::new(name))?,
                false => set(&mut properties, name, value, Origin::Global),
            }
        }
        Ok(properties)
    }

    /// The system's properties. Errors: a file cannot be read.
    pub fn system(&self) -> Result<Properties, Failure> {
        let mut system = Properties::default();
        self.add_home(&mut system, "system.properties")?;
        for file in &self.system_file {
            add(&mut system, file)?;
        }
        for (name, value) in &self.system {
            set(&mut system, name, value, Origin::CommandLine);
        }
        Ok(system)
    }

    /// A file of the tool's own directory, which may not be there.
    fn add_home(&self, properties: &mut Properties, name: &str) -> Result<(), Failure> {
        let Some(home) = &self.home else {
            return Ok(());
        };
        let bin = home.join("bin");
        if !bin.is_dir() {
            return Err(Failure::operator(
                Text::new("error-jmeter-home").with("path", home.display()),
                Text::new("error-jmeter-home-hint"),
            ));
        }
        let file = bin.join(name);
        match file.exists() {
            true => add(properties, &file),
            false => Ok(()),
        }
    }
}

fn add(properties: &mut Properties, file: &Path) -> Result<(), Failure> {
    let bytes = read_bounded(file, MOST_BYTES).map_err(|error| unreadable(file, &error))?;
    properties.add_file(&file.display().to_string(), &bytes);
    Ok(())
}

fn set(properties: &mut Properties, name: &str, value: &str, origin: Origin) {
    match value {
        "" => properties.remove(name),
        value => properties.set(name, value, origin),
    }
}
