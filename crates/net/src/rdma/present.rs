//! Bindings to the parts of libibverbs that are needed: exported functions are declared by hand,
//! structures stay opaque.
//!
//! Source: infiniband/verbs.h of rdma-core, whose inline wrappers are not used.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::ptr::{self, NonNull};

use super::RdmaError;

/// Completions that may wait to be taken.
const COMPLETIONS: c_int = 256;

#[repr(C)]
struct IbvDevice {
    _unseen: [u8; 0],
}

#[repr(C)]
struct IbvContext {
    _unseen: [u8; 0],
}

#[repr(C)]
struct IbvPd {
    _unseen: [u8; 0],
}

#[repr(C)]
struct IbvCq {
    _unseen: [u8; 0],
}

#[link(name = "ibverbs")]
unsafe extern "C" {
    fn ibv_get_device_list(count: *mut c_int) -> *mut *mut IbvDevice;
    fn ibv_free_device_list(list: *mut *mut IbvDevice);
    fn ibv_get_device_name(device: *mut IbvDevice) -> *const c_char;
    fn ibv_open_device(device: *mut IbvDevice) -> *mut IbvContext;
    fn ibv_close_device(context: *mut IbvContext) -> c_int;
    fn ibv_alloc_pd(context: *mut IbvContext) -> *mut IbvPd;
    fn ibv_dealloc_pd(pd: *mut IbvPd) -> c_int;
    fn ibv_create_cq(
        context: *mut IbvContext,
        entries: c_int,
        cq_context: *mut c_void,
        channel: *mut c_void,
        vector: c_int,
    ) -> *mut IbvCq;
    fn ibv_destroy_cq(cq: *mut IbvCq) -> c_int;
}

/// The library's list of devices; freed with it.
struct List {
    first: NonNull<*mut IbvDevice>,
    count: usize,
}

impl List {
    fn new() -> Result<Self, RdmaError> {
        let mut count = 0;
        // SAFETY: the function writes one number and returns a list that is ours to free.
        let list = unsafe { ibv_get_device_list(&mut count) };
        let first = NonNull::new(list).ok_or_else(|| {
            let why = io::Error::last_os_error();
            match why.raw_os_error() {
                // The kernel has no driver for such devices.
                Some(libc::ENOSYS | libc::ENOENT) => RdmaError::NoDevice,
                _ => RdmaError::List(why),
            }
        })?;
        Ok(Self {
            first,
            count: usize::try_from(count).unwrap_or(0),
        })
    }

    fn devices(&self) -> impl Iterator<Item = *mut IbvDevice> + '_ {
        // SAFETY: the library says that so many pointers lie there, and they live as long as
        // the list.
        let all = unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) };
        all.iter().copied()
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: the list came from the library and is freed once. Devices that were opened stay.
        unsafe { ibv_free_device_list(self.first.as_ptr()) };
    }
}

/// Name of a device of a list that lives.
fn name(device: *mut IbvDevice) -> String {
    // SAFETY: the device belongs to a list that lives while this runs; its name is a C string.
    let name = unsafe { ibv_get_device_name(device) };
    if name.is_null() {
        return String::new();
    }
    // SAFETY: not null, and ended by a zero as the library promises.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

/// Names of this host's devices; empty when it has none.
///
/// Errors: the list cannot be read.
pub fn devices() -> Result<Vec<String>, RdmaError> {
    match List::new() {
        Ok(list) => Ok(list.devices().map(name).collect()),
        Err(RdmaError::NoDevice) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// An opened device with what every transfer over it needs.
#[derive(Debug)]
pub struct Endpoint {
    device: String,
    context: NonNull<IbvContext>,
    domain: Option<NonNull<IbvPd>>,
    completions: Option<NonNull<IbvCq>>,
}

impl Endpoint {
    /// Opens the first device.
    ///
    /// Errors: there is none, or it cannot be opened.
    pub fn open_first() -> Result<Self, RdmaError> {
        let list = List::new()?;
        let device = list.devices().next().ok_or(RdmaError::NoDevice)?;
        let called = name(device);
        let failed = |what| RdmaError::Open {
            device: called.clone(),
            what,
            why: io::Error::last_os_error(),
        };
        // SAFETY: the device belongs to a list that lives; the context outlives the list.
        let context = NonNull::new(unsafe { ibv_open_device(device) });
        let mut endpoint = Self {
            device: called.clone(),
            context: context.ok_or_else(|| failed("opening"))?,
            domain: None,
            completions: None,
        };
        // SAFETY: the context was opened above and is closed after everything made from it.
        let domain = NonNull::new(unsafe { ibv_alloc_pd(endpoint.context.as_ptr()) });
        endpoint.domain = Some(domain.ok_or_else(|| failed("protection domain"))?);
        // SAFETY: as above; no channel, no context of ours, the first vector.
        let completions = NonNull::new(unsafe {
            ibv_create_cq(
                endpoint.context.as_ptr(),
                COMPLETIONS,
                ptr::null_mut(),
                ptr::null_mut(),
                0,
            )
        });
        endpoint.completions = Some(completions.ok_or_else(|| failed("completion queue"))?);
        Ok(endpoint)
    }

    /// Its name.
    pub fn device(&self) -> &str {
        &self.device
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // SAFETY: each was made from the context by `open_first` and is given back once, in the
        // opposite order. Nothing uses them any more, so that none can be busy.
        unsafe {
            if let Some(completions) = self.completions {
                ibv_destroy_cq(completions.as_ptr());
            }
            if let Some(domain) = self.domain {
                ibv_dealloc_pd(domain.as_ptr());
            }
            ibv_close_device(self.context.as_ptr());
        }
    }
}
