//! Forgets some memory: what a memory checker has to find, or it would find nothing.

fn main() {
    for size in 1..=10 {
        std::mem::forget(std::hint::black_box(vec![1_u8; size * 1000]));
    }
}
