//! Inline images: checked for real and made to fit what the kernel takes (S2.10, S2.11).

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};

/// Largest decoded image that a caller may send, in bytes (S2.11).
///
/// Source: S2.11.
pub const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;
/// Largest sum over one request, in bytes (S2.11).
///
/// Source: S2.11.
pub const MAX_IMAGES_BYTES: usize = 10 * 1024 * 1024;
/// What the kernel takes without a complaint: longest side in pixels …
///
/// Source: iac-code 0.16, what its own AG-UI adapter scales images to.
pub const KERNEL_MAX_SIDE_PX: u32 = 2000;
/// … and size in bytes (it refuses above 5 MiB; base64 and envelope need room).
///
/// Source: iac-code 0.16, what its own AG-UI adapter scales images to.
pub const KERNEL_MAX_BYTES: usize = 3_932_160;
/// Most pixels that are decoded: 64 megapixels, 256 MiB as RGBA.
///
/// A few kilobytes can unpack to gigabytes; the header is read before any pixel is.
///
/// Example: see [`Adapter`](crate::Adapter).
pub const MAX_PIXELS: u64 = 64 * 1024 * 1024;
/// Memory that one decoder may take, in bytes.
const MAX_DECODER_BYTES: u64 = 512 * 1024 * 1024;
/// JPEG qualities tried in turn until the result fits.
const JPEG_QUALITIES: [u8; 4] = [85, 70, 50, 30];

/// An image that the kernel accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreparedImage {
    /// Media type of `base64`; another one than declared when the image had to be encoded again.
    pub(crate) media_type: &'static str,
    /// The bytes in standard base64.
    pub(crate) base64: String,
    /// Size of what the caller sent, decoded, in bytes.
    pub(crate) sent_bytes: usize,
}

/// Why an image is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImageError {
    #[error("the media type is not supported")]
    UnsupportedType,
    #[error("the data is not base64")]
    NotBase64,
    #[error("the image is too large")]
    TooLarge,
    #[error("the image cannot be decoded as its declared type")]
    Invalid,
}

/// Checks a file for an agent of any make and gives its size in bytes: it must be base64 within the limits of
/// images, and an image of a known type must be one, with no more pixels than are decoded here. Nothing is
/// changed: what the agent can read is for the agent to say.
pub(crate) fn check_file(declared: &str, base64: &str) -> Result<usize, ImageError> {
    let bytes = decode(base64)?;
    if let Some(format) = format_of(declared) {
        dimensions(&bytes, format)?;
    }
    Ok(bytes.len())
}

/// Checks one image and shrinks it where the kernel would refuse it. Costs CPU: keep it off async threads.
pub(crate) fn prepare(declared: &str, base64: &str) -> Result<PreparedImage, ImageError> {
    let format = format_of(declared).ok_or(ImageError::UnsupportedType)?;
    let bytes = decode(base64)?;
    let (width, height) = dimensions(&bytes, format)?;
    let decoded = reader(&bytes, format).decode().map_err(|_| ImageError::Invalid)?;
    let sent_bytes = bytes.len();
    if width.max(height) <= KERNEL_MAX_SIDE_PX && sent_bytes <= KERNEL_MAX_BYTES {
        return Ok(PreparedImage {
            media_type: media_type(format),
            base64: STANDARD.encode(bytes),
            sent_bytes,
        });
    }
    let (media_type, bytes) = shrink(&decoded)?;
    Ok(PreparedImage { media_type, base64: STANDARD.encode(bytes), sent_bytes })
}

fn decode(base64: &str) -> Result<Vec<u8>, ImageError> {
    // Four characters carry three bytes: refuse before decoding.
    if base64.len() / 4 * 3 > MAX_IMAGE_BYTES + 3 {
        return Err(ImageError::TooLarge);
    }
    let bytes = STANDARD.decode(base64.trim_ascii()).map_err(|_| ImageError::NotBase64)?;
    if bytes.len() > MAX_IMAGE_BYTES { Err(ImageError::TooLarge) } else { Ok(bytes) }
}

/// Width and height of an image that is what it is said to be and not too large to be looked at.
fn dimensions(bytes: &[u8], format: ImageFormat) -> Result<(u32, u32), ImageError> {
    if image::guess_format(bytes).ok() != Some(format) {
        return Err(ImageError::Invalid);
    }
    let (width, height) = reader(bytes, format).into_dimensions().map_err(|_| ImageError::Invalid)?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS { Err(ImageError::TooLarge) } else { Ok((width, height)) }
}

fn reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    reader
}

/// Scales to the kernel's side limit; lossless while that fits, else JPEG on white.
fn shrink(image: &DynamicImage) -> Result<(&'static str, Vec<u8>), ImageError> {
    let scaled = if image.width().max(image.height()) > KERNEL_MAX_SIDE_PX {
        image.resize(KERNEL_MAX_SIDE_PX, KERNEL_MAX_SIDE_PX, FilterType::CatmullRom)
    } else {
        image.clone()
    };
    let mut png = Cursor::new(Vec::new());
    if scaled.write_to(&mut png, ImageFormat::Png).is_ok() && png.get_ref().len() <= KERNEL_MAX_BYTES {
        return Ok(("image/png", png.into_inner()));
    }
    let opaque = flatten(&scaled);
    for quality in JPEG_QUALITIES {
        let mut jpeg = Vec::new();
        let encoded = JpegEncoder::new_with_quality(&mut jpeg, quality).encode_image(&opaque);
        if encoded.is_ok() && jpeg.len() <= KERNEL_MAX_BYTES {
            return Ok(("image/jpeg", jpeg));
        }
    }
    Err(ImageError::TooLarge)
}

/// JPEG has no transparency: what shows through becomes white, not black.
fn flatten(image: &DynamicImage) -> DynamicImage {
    let mut canvas = image::RgbaImage::from_pixel(image.width(), image.height(), image::Rgba([255; 4]));
    image::imageops::overlay(&mut canvas, image, 0, 0);
    DynamicImage::ImageRgba8(canvas).into_rgb8().into()
}

fn format_of(media_type: &str) -> Option<ImageFormat> {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Some(match essence.as_str() {
        "image/png" => ImageFormat::Png,
        "image/jpeg" | "image/jpg" => ImageFormat::Jpeg,
        "image/gif" => ImageFormat::Gif,
        "image/webp" => ImageFormat::WebP,
        _ => return None,
    })
}

fn media_type(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Jpeg => "image/jpeg",
        ImageFormat::Gif => "image/gif",
        ImageFormat::WebP => "image/webp",
        _ => "image/png",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> String {
        let pixels = image::RgbImage::from_fn(width, height, |x, y| {
            let v = x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503);
            image::Rgb([(v >> 8) as u8, (v >> 16) as u8, (v >> 24) as u8])
        });
        let mut out = Cursor::new(Vec::new());
        DynamicImage::ImageRgb8(pixels).write_to(&mut out, format).unwrap();
        STANDARD.encode(out.into_inner())
    }

    #[test]
    fn s2_10_each_supported_type_passes_unchanged() {
        let cases = [
            ("image/png", ImageFormat::Png),
            ("IMAGE/JPEG; q=1", ImageFormat::Jpeg),
            ("image/gif", ImageFormat::Gif),
            ("image/webp", ImageFormat::WebP),
        ];
        for (declared, format) in cases {
            let data = encoded(4, 4, format);
            let prepared = prepare(declared, &data).unwrap();
            assert_eq!(prepared.base64, data, "{declared}");
            assert_eq!(prepared.media_type, media_type(format));
        }
    }

    #[test]
    fn s2_11_bytes_must_be_what_the_type_says() {
        let png = encoded(4, 4, ImageFormat::Png);
        assert_eq!(prepare("image/jpeg", &png), Err(ImageError::Invalid));
        assert_eq!(prepare("image/svg+xml", &png), Err(ImageError::UnsupportedType));
        assert_eq!(prepare("image/png", &STANDARD.encode("<svg/>")), Err(ImageError::Invalid));
        assert_eq!(prepare("image/png", "***"), Err(ImageError::NotBase64));
        assert_eq!(prepare("image/png", ""), Err(ImageError::Invalid));
        let cut = &png[..png.len() / 2 / 4 * 4];
        assert_eq!(prepare("image/png", cut), Err(ImageError::Invalid));
    }

    #[test]
    fn s2_11_the_limit_is_exact() {
        let fits = STANDARD.encode(vec![0; MAX_IMAGE_BYTES]);
        assert_eq!(prepare("image/png", &fits), Err(ImageError::Invalid));
        let over = STANDARD.encode(vec![0; MAX_IMAGE_BYTES + 1]);
        assert_eq!(prepare("image/png", &over), Err(ImageError::TooLarge));
    }

    #[test]
    fn s2_11_an_image_that_the_kernel_would_refuse_is_scaled_down() {
        let prepared = prepare("image/png", &encoded(2400, 30, ImageFormat::Png)).unwrap();
        let bytes = STANDARD.decode(&prepared.base64).unwrap();
        let size = ImageReader::new(Cursor::new(&bytes)).with_guessed_format().unwrap().into_dimensions();
        assert_eq!(size.unwrap(), (2000, 25));
        assert_eq!(prepared.media_type, "image/png");

        let prepared = prepare("image/png", &encoded(1500, 1500, ImageFormat::Png)).unwrap();
        assert!(prepared.sent_bytes > KERNEL_MAX_BYTES);
        assert!(STANDARD.decode(&prepared.base64).unwrap().len() <= KERNEL_MAX_BYTES);
        assert_eq!(prepared.media_type, "image/jpeg");
    }

    #[test]
    fn s2_11_a_small_file_that_unpacks_to_gigabytes_is_refused_before_it_is_unpacked() {
        // A header that promises 60,000 × 60,000 pixels and no data.
        let mut png = STANDARD.decode(encoded(1, 1, ImageFormat::Png)).unwrap();
        png[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        png[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let crc = crc32(&png[12..29]);
        png[29..33].copy_from_slice(&crc.to_be_bytes());
        assert_eq!(prepare("image/png", &STANDARD.encode(png)), Err(ImageError::TooLarge));
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
        })
    }
}
