"""Paper 14: descriptions of music videos from music (slug `music-video-description`)."""
