// On other platforms than Apple's this module is empty.
